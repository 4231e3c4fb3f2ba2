@echo off
rem Installs the workbook from this folder, without the network, and opens lesson 00.
cd /d "%~dp0"
if exist env\ready goto ready
py -@PYTHON@ -c "" 2>nul
if errorlevel 1 goto nopython
echo Installing into %CD%\env: about a minute, once.
if exist env rmdir /s /q env
py -@PYTHON@ -m venv env
if errorlevel 1 goto failed
env\Scripts\python -m pip install --isolated --disable-pip-version-check -q --no-index --no-deps -r requirements.txt
if errorlevel 1 goto failed
echo ready> env\ready
:ready
env\Scripts\workbook lab %*
exit /b %errorlevel%
:nopython
echo This needs Python @PYTHON@ with the launcher py. Install it, then start this again.
:failed
pause
exit /b 1
